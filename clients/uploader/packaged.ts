// What `npx weir-upload` runs where only the package is installed: without a clone there is nothing to build, and no system to find.
import { setFlagsFromString } from 'node:v8'

// By itself Node lets garbage pile up to what it thinks a machine can spare: 250 MB for a file of any length, where 130 do.
setFlagsFromString('--max-old-space-size=256')
process.env.CALLED_AS ||= 'npx weir-upload'
await import('./main.js')
