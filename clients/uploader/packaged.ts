// What `weir-upload` runs where only the package is installed: without a clone there is nothing to build, and no system to find.
import { setFlagsFromString } from 'node:v8'

// By itself Node lets garbage pile up to what it thinks a machine can spare: 250 MB for a file of any length, where 130 do.
setFlagsFromString('--max-old-space-size=256')
// Installed for the machine it is called by its name, in a project by npx.
process.env.CALLED_AS ||= process.env.npm_lifecycle_event === 'npx' ? 'npx weir-upload' : 'weir-upload'
await import('./main.js')
