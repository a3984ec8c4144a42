// A Kubernetes on this machine for one test: etcd, the API server, the controllers and the scheduler are the real ones, built from their Go
// modules; nodes, and what runs on them, are pretended by kwok.
import { execFile, spawn } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { answersHttp, freePorts } from '../../../deploy/embedded/servers/ports.js'
import { eventually } from '../eventually.js'

const run = promisify(execFile)
const binaries = join(import.meta.dirname, 'binaries.sh')

/** The folder of these programs. They are built where they are not yet, which takes up to half an hour. */
export const openBinaries = async (...names: string[]): Promise<string> =>
  (await run(binaries, names, { maxBuffer: 64 * 1024 * 1024 })).stdout.trim()

/** Why no Kubernetes can be started here, if none can. */
export const whyNoKubernetes = async (): Promise<string | undefined> => {
  const found = await run('go', ['env', 'GOVERSION']).then(
    ({ stdout }) => /^go1\.(\d+)/.exec(stdout)?.[1] ?? '0',
    () => undefined,
  )
  if (found === undefined) return 'there is no Go here, with which the programs of Kubernetes are built'
  return Number(found) < 24 ? 'the programs of Kubernetes are built with Go 1.24 or later' : undefined
}

/** Files of a Go module, such as the definitions that an operator brings along. */
export const openModule = async (module: string): Promise<string> => {
  const { stdout } = await run('go', ['mod', 'download', '-json', module], { cwd: tmpdir() })
  return (JSON.parse(stdout) as { Dir: string }).Dir
}

export type Cluster = Awaited<ReturnType<typeof startCluster>>

export const startCluster = async ({ nodes }: { nodes: number }) => {
  const bin = await openBinaries('helm', 'kwok', 'etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler')
  const folder = mkdtempSync(join(tmpdir(), 'weir-kubernetes-'))
  const [etcdPort = 0, peerPort = 0, port = 0, managerPort = 0, schedulerPort = 0] = await freePorts(5)
  const place = (name: string) => join(folder, name)
  const token = 'token-of-the-test'
  const server = `https://127.0.0.1:${port}`
  const kubeconfig = place('kubeconfig')

  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  writeFileSync(place('accounts.key'), privateKey.export({ type: 'pkcs1', format: 'pem' }))
  writeFileSync(place('accounts.pub'), publicKey.export({ type: 'spki', format: 'pem' }))
  writeFileSync(place('tokens.csv'), `${token},test,test,system:masters\n`)
  // JSON is YAML too.
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'test',
      contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
      clusters: [{ name: 'test', cluster: { server, 'insecure-skip-tls-verify': true } }],
      users: [{ name: 'test', user: { token } }],
    }),
  )

  const started: { name: string; end: () => Promise<unknown> }[] = []
  const start = (name: string, args: string[]): void => {
    const log = openSync(place(`${name}.log`), 'a')
    const child = spawn(join(bin, name), args, { cwd: folder, stdio: ['ignore', log, log] })
    const ended = once(child, 'exit')
    started.unshift({
      name,
      end: async () => {
        if (child.exitCode !== null) return
        child.kill('SIGTERM')
        const late = setTimeout(() => child.kill('SIGKILL'), 10_000)
        await ended
        clearTimeout(late)
      },
    })
  }
  const stop = async (): Promise<void> => {
    for (const { end } of started) await end()
    rmSync(folder, { recursive: true, force: true })
  }
  const lastLines = (name: string) =>
    readFileSync(place(`${name}.log`), 'utf8')
      .split('\n')
      .slice(-5)
      .join('\n')

  try {
    const etcd = `http://127.0.0.1:${etcdPort}`
    const peer = `http://127.0.0.1:${peerPort}`
    const urls = [`--listen-client-urls=${etcd}`, `--advertise-client-urls=${etcd}`, `--listen-peer-urls=${peer}`]
    start('etcd', [
      `--data-dir=${place('etcd')}`,
      ...urls,
      `--initial-advertise-peer-urls=${peer}`,
      `--initial-cluster=default=${peer}`,
    ])
    start('kube-apiserver', [
      `--etcd-servers=${etcd}`,
      `--secure-port=${port}`,
      '--bind-address=127.0.0.1',
      `--cert-dir=${place('certificates')}`,
      '--service-account-issuer=https://kubernetes.default.svc',
      `--service-account-key-file=${place('accounts.pub')}`,
      `--service-account-signing-key-file=${place('accounts.key')}`,
      `--token-auth-file=${place('tokens.csv')}`,
      '--authorization-mode=RBAC',
      '--service-cluster-ip-range=10.96.0.0/16',
    ])
    await eventually(async () => {
      if (!(await answersHttp(`${server}/readyz`))) throw new Error(`no API server: ${lastLines('kube-apiserver')}`)
    }, 120_000)
    const asTest = [`--kubeconfig=${kubeconfig}`]
    const alone = ['--leader-elect=false']
    start('kube-controller-manager', [
      ...asTest,
      ...alone,
      `--secure-port=${managerPort}`,
      `--service-account-private-key-file=${place('accounts.key')}`,
    ])
    start('kube-scheduler', [...asTest, ...alone, `--secure-port=${schedulerPort}`])
    start('kwok', [...asTest, '--manage-all-nodes=true', '--cidr=10.244.0.0/16'])
  } catch (error) {
    await stop()
    throw error
  }

  /** A call of the API, answered with an object; what is refused is thrown, with the API server's own words. */
  const api = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const asked = request(`${server}${path}`, {
      method,
      rejectUnauthorized: false,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', accept: 'application/json' },
    })
    asked.end(body === undefined ? undefined : JSON.stringify(body))
    const [answer] = (await once(asked, 'response')) as [import('node:http').IncomingMessage]
    const text = (await answer.setEncoding('utf8').toArray()).join('')
    if ((answer.statusCode ?? 500) >= 400) throw new Error(`${method} ${path}: ${answer.statusCode} ${text}`)
    return JSON.parse(text) as T
  }

  for (let n = 1; n <= nodes; n += 1)
    await api('POST', '/api/v1/nodes', {
      metadata: {
        name: `node-${n}`,
        labels: { 'kubernetes.io/hostname': `node-${n}`, 'topology.kubernetes.io/zone': `zone-${n}` },
      },
      status: {
        allocatable: { cpu: '8', memory: '16Gi', pods: '110' },
        capacity: { cpu: '8', memory: '16Gi', pods: '110' },
      },
    })

  return {
    api,
    /** Runs Helm; what it refuses is thrown, with what it printed. */
    helm: async (...args: string[]): Promise<string> => {
      const env = {
        ...process.env,
        KUBECONFIG: kubeconfig,
        HELM_CACHE_HOME: place('helm'),
        HELM_CONFIG_HOME: place('helm'),
      }
      return (await run(join(bin, 'helm'), args, { env, maxBuffer: 64 * 1024 * 1024 })).stdout
    },
    helmBinary: join(bin, 'helm'),
    lastLines,
    stop,
  }
}
