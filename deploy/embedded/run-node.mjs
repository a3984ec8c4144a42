import { spawn } from 'node:child_process'

/** Runs Node with `args` in the foreground, then does what comes `afterwards`, and ends this process with the same exit code. */
export function runNode(args, env = process.env, afterwards = async () => {}) {
  const child = spawn(process.execPath, args, { stdio: 'inherit', env })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      // A terminal sends Ctrl-C to the child as well; a second signal would cut its orderly end short.
      if (!(signal === 'SIGINT' && process.stdin.isTTY)) child.kill(signal)
    })
  }
  child.once('exit', async (code, signal) => {
    await afterwards()
    process.exit(code ?? 128 + ({ SIGHUP: 1, SIGINT: 2, SIGKILL: 9, SIGTERM: 15 }[signal] ?? 1))
  })
}
