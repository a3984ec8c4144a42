import { defineConfig } from 'vite'

// The programs, each with all that it imports, in a few files: a program of a thousand small files spends half of its start on finding
// and reading them.
const programs = [
  ...['edge', 'integrity', 'sink', 'delivery', 'operator'].map((name) => `services/${name}/main`),
  'services/persons/remove/thread',
  ...['clients/uploader/main', 'clients/mcp/main'],
  ...['launch', 'operator-call', 'running-system', 'services'].map((name) => `deploy/embedded/launcher/${name}`),
  ...['backup/main', 'clickhouse/main', 'servers/class-archives'].map((path) => `deploy/embedded/${path}`),
]

// What stays in node_modules: machine code; what reads files that lie beside it; and what an installation may be without.
const native = ['chdb']
const withFiles = ['node-pg-migrate', '@fastify/swagger-ui']
const telemetry = ['exporter-trace-otlp-http', 'resources', 'sdk-trace']
const optional = ['pg-native', ...telemetry.map((name) => `@opentelemetry/${name}`)]

export default defineConfig({
  publicDir: false,
  ssr: {
    noExternal: true,
    external: [...native, ...withFiles, ...optional],
  },
  build: {
    ssr: true,
    target: 'node20',
    sourcemap: true,
    rolldownOptions: {
      input: Object.fromEntries(programs.map((path) => [path, `${path}.ts`])),
      // With `var` for what is `const`, V8 cannot rely on a table or a number at the top of a file: an edge took a third more for a record.
      output: { entryFileNames: '[name].js', chunkFileNames: 'chunks/[name].js', topLevelVar: false },
    },
  },
})
