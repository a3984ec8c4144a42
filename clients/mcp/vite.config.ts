import { defineConfig } from 'vite'

// The package in one file: what it imports of schemas/, the SDK and npm comes with it, so that installing it needs nothing else. The
// licences of what comes along are written beside it.
export default defineConfig({
  ssr: { noExternal: true },
  build: {
    ssr: 'main.ts',
    target: 'node20',
    license: { fileName: 'licences.md' },
    rolldownOptions: {
      output: { entryFileNames: 'weir-mcp.js', codeSplitting: false, banner: '#!/usr/bin/env node' },
    },
  },
})
