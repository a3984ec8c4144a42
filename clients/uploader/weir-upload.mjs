#!/usr/bin/env node
// `npx weir-upload shops.csv` in a clone: the same as `npm run -s weir -- upload shops.csv`.
import { runUploader } from '../../deploy/embedded/run-uploader.mjs'

await runUploader(process.argv.slice(2), 'weir-upload')
