// What Helm makes of the chart, for a few sets of values. It is kept in test/deploy/helm/rendered, so that every test run can look at
// it without Helm, which first has to be built. After a change of the chart: node deploy/embedded/run-source.mjs test/deploy/helm/render.ts
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '#platform/process/package-root.js'

export const chart = join(packageRoot, 'deploy/helm/weir')
const examples = join(packageRoot, 'deploy/helm/examples')
const renderedIn = join(import.meta.dirname, 'rendered')

/** The values of each rendering, by the names of files in deploy/helm/examples. */
export const valueSets: Readonly<Record<string, readonly string[]>> = {
  'own-tls': ['own-tls'],
  operators: ['strimzi', 'cloudnative-pg', 'altinity', 'apicurio', 'ingress'],
  'every-option': ['own-tls', 'every-option'],
}
export const valuesFile = (name: string): string => join(examples, `${name}.values.yaml`)

/** The sum of all that a rendering is made of, except what other files of the project decide: versions, settings, dashboards. */
export const chartSum = (): string => {
  const templates = readdirSync(join(chart, 'templates'))
    .sort()
    .map((name) => join(chart, 'templates', name))
  const values = [...new Set(Object.values(valueSets).flat())].map(valuesFile)
  const sum = createHash('sha256')
  for (const file of [join(chart, 'values.yaml'), ...templates, ...values]) sum.update(readFileSync(file))
  return sum.digest('hex')
}

export const readRendered = (set: string): string => readFileSync(join(renderedIn, `${set}.yaml`), 'utf8')

/** The same for every version of Weir: a release must not make the renderings stale. */
const withoutVersion = (text: string): string => {
  const { version } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as { version: string }
  return text.replaceAll(version, '0.0.0')
}

/** What Helm renders now, with the sum of the chart in the first line. */
export const render = (helm: string, set: string): string => {
  const values = (valueSets[set] ?? []).flatMap((name) => ['--values', valuesFile(name)])
  // Alerts and dashboards are written elsewhere, and change more often than the chart.
  const without = ['--set', 'monitoring.alerts.enabled=false,monitoring.dashboards.enabled=false']
  const args = ['template', 'weir', chart, '--namespace', 'weir', '--kube-version', '1.34.2', ...values, ...without]
  const text = execFileSync(helm, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  return `# Made by test/deploy/helm/render.ts. Sum of the chart: ${chartSum()}\n${withoutVersion(text)}`
}

export const binaries = join(packageRoot, 'test/support/kubernetes/binaries.sh')

if (process.argv[1] === import.meta.filename) {
  const bin = execFileSync(binaries, ['helm'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim()
  for (const set of Object.keys(valueSets))
    writeFileSync(join(renderedIn, `${set}.yaml`), render(join(bin, 'helm'), set))
  console.log(`${Object.keys(valueSets).length} renderings written`)
}
