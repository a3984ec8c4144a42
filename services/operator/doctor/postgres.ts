import type { PostgresFacts } from '#ledger/verify/server-settings.js'
import { type Examined, unless, warning, wrong } from './finding.js'

const oldestTried = 150_000
// One edge (37, and one that listens), one integrity (20) and this command (2).
const leastConnections = 60
const leastLeft = 10

export const examinePostgres = ({ settings, version, used, standbys, pending }: PostgresFacts): Examined => {
  const is = (name: string, value: string) => settings.get(name) === value
  const most = Number(settings.get('max_connections')) - Number(settings.get('superuser_reserved_connections') ?? 0)
  const alter = (name: string, value: string) => `psql: alter system set ${name} = ${value}; select pg_reload_conf()`
  return {
    part: 'Postgres',
    about: `${settings.get('server_version')}, ${used} of ${most} connections in use, ${standbys.length} standbys`,
    findings: unless([
      [version >= oldestTried, warning(`it is older than 15, with which Weir was never tried`, 'upgrade Postgres')],
      [
        pending === 0,
        wrong(`${pending} changes of its tables are missing: it was provisioned by an older Weir`, '"weir provision"'),
      ],
      [
        is('fsync', 'on'),
        wrong('fsync is off: a machine that loses power loses verdicts, or the whole database', alter('fsync', 'on')),
      ],
      [
        is('full_page_writes', 'on'),
        wrong(
          'full_page_writes is off: a page that is half written when the power goes is lost',
          alter('full_page_writes', 'on'),
        ),
      ],
      [
        !is('synchronous_commit', 'off') || settings.get('synchronous_commit') === undefined,
        wrong(
          'synchronous_commit is off: a decision that was answered may be lost',
          alter('synchronous_commit', "'on'"),
        ),
      ],
      [
        standbys.length === 0 || standbys.some((state) => state === 'sync' || state === 'quorum'),
        warning(
          'no standby is synchronous: a failover may forget decisions that were answered',
          `${alter('synchronous_standby_names', "'ANY 1 (*)'")}; docs/runbook.md, "Postgres went back"`,
        ),
      ],
      [
        !(standbys.length > 0 && is('synchronous_commit', 'local')),
        warning('synchronous_commit is local: no standby is waited for', alter('synchronous_commit', "'on'")),
      ],
      [
        most >= leastConnections,
        warning(
          `${most} connections: one edge, one integrity and this command may use ${leastConnections}, each further edge 38`,
          `${alter('max_connections', '200').replace('; select pg_reload_conf()', '')}, and restart Postgres`,
        ),
      ],
      [
        most - used >= leastLeft,
        warning(
          `${used} of ${most} connections are in use`,
          'raise max_connections, or run fewer edges: each uses up to 38',
        ),
      ],
    ]),
  }
}
