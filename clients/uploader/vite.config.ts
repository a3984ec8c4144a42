import { defineConfig } from 'vite'

// The package in one folder: what the uploader imports of schemas/, the SDK and npm comes with it, so that installing it needs
// nothing else. The licences of what comes along are written beside it.
export default defineConfig({
  ssr: { noExternal: true },
  build: {
    ssr: 'packaged.ts',
    target: 'node20',
    license: { fileName: 'licences.md' },
    rolldownOptions: {
      output: { entryFileNames: 'weir-upload.js', codeSplitting: false, banner: '#!/usr/bin/env node' },
    },
  },
})
