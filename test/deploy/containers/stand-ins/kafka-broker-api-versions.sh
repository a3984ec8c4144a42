#!/usr/bin/env node
// Of Kafka's tool only what the health check needs: fails until a broker is registered. Asked by a metadata request, version 1, for no
// topic at all.
const { connect } = require('node:net')

const [host, port] = process.argv[3].split(':')
const request = Buffer.from('0000000e0003000100000001ffff00000000', 'hex')
const socket = connect({ host, port: Number(port) }, () => socket.write(request))
socket.once('data', (answer) => process.exit(answer.readInt32BE(8) > 0 ? 0 : 1))
socket.once('error', () => process.exit(1))
