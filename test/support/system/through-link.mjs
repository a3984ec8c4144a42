// For --import: connections to LINKED_PORT go to LINK_PORT, where a test has a link to it. So one process reaches by a link what
// all others reach directly, whatever address it is told by the server itself, as Kafka's clients are.
import { Socket } from 'node:net'

const [linked, link] = [Number(process.env.LINKED_PORT), Number(process.env.LINK_PORT)]
const { connect } = Socket.prototype
Socket.prototype.connect = function (...given) {
  // node:net hands over a list with the options in it.
  const [options] = given.flat()
  if (Number(options?.port) === linked) options.port = link
  return connect.apply(this, given)
}
