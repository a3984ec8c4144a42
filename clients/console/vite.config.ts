import { defineConfig } from 'vite'

// The page as it is served: a script, a style, a worker, a picture, and the SQL page with its editor, which is loaded when it is opened. Their names change with what is in them, so that browsers keep
// them for good. The maps lead people who look for a fault to the sources; browsers ask for them only then.
export default defineConfig({
  base: './',
  build: {
    target: 'es2023',
    outDir: '../../dist/console',
    emptyOutDir: true,
    assetsDir: 'files',
    modulePreload: false,
    sourcemap: true,
    license: { fileName: 'licences.txt' },
  },
  worker: { format: 'es' },
})
