// The yardstick's own process: see start-yardstick.ts. Tells how much of the work it has done and what CPU that took, when asked.
const body = JSON.stringify(
  Array.from({ length: 400 }, (_, n) => ({
    id: `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
    name: `Shop number ${n}`,
    tags: ['one', 'two', `tag ${n}`],
    at: new Date(1e12 + n).toISOString(),
    amount: n / 100,
  })),
)
const every = 40

let done = { units: 0, micros: 0 }
/** Reads and writes JSON: much like what a service does, and never changed. */
const work = (): number => {
  const before = process.cpuUsage()
  const read: Record<string, unknown>[] = JSON.parse(body)
  JSON.stringify(read.map((each) => ({ ...each, name: String(each.name).toUpperCase() })))
  const { user, system } = process.cpuUsage(before)
  return user + system
}
// First of all: the bench may let go of this process while its code is still compiled, or even read. A `disconnect` from before is not told again.
process.on('message', () => process.send?.(done))
process.on('disconnect', () => process.exit(0))
if (!process.connected) process.exit(0)
process.on('SIGINT', () => {})
// Until its code is compiled.
for (let n = 0; n < 300; n++) work()
setInterval(() => {
  done = { units: done.units + 1, micros: done.micros + work() }
}, every)
