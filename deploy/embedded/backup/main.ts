// `weir backup` and `weir restore`: a system that runs all of its parts itself, as it was at one moment, in a folder and out of it.
import { Command, CommanderError } from 'commander'
import { packageRoot } from '#platform/process/package-root.js'
import { DataFolderInUse } from '../launcher/running-system.js'
import { readStartSettings } from '../launcher/start-settings.mjs'
import { refusalOf } from '../supervision/disk-refusal.mjs'
import { BackupRefused } from './backup-refused.js'
import { inWords } from './in-words.js'
import { makeBackup } from './make-backup.js'
import { restoreBackup } from './restore-backup.js'

const calledAs = process.env.CALLED_AS || 'npm run -s weir --'
const { dataDir } = readStartSettings(process.env, packageRoot)
const say = (line: string) => process.stderr.write(`${line}\n`)
const print = (line: string) => process.stdout.write(`${line}\n`)
const clock = (ms: number) => (ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`)

const program = new Command(calledAs)
  .exitOverride()
  .configureOutput({ outputError: (text, write) => write(text.replace(/^error:/, 'weir:')) })

program
  .command('backup <folder>')
  .description('copy everything of this system, as it is at one moment, into a new folder; the system may run')
  .option('--json', 'one line of JSON: folder, moment, paused_ms, files, bytes, version')
  .addHelpText(
    'after',
    `\nExample:\n  $ ${calledAs} backup ../weir-backup\n\nThe folder holds secrets. What it is good for: docs/backup.md`,
  )
  .action(async (folder: string, { json = false }: { json?: boolean }) => {
    const { entries: _, ...manifest } = await makeBackup(dataDir, folder, say)
    const { moment, paused_ms, files, bytes } = manifest
    const sentence =
      `${folder}: ${files} files, ${inWords(bytes)}; all that was acknowledged before ${moment} is in it` +
      (paused_ms > 0 ? `; requests waited for ${clock(paused_ms)}` : '')
    print(json ? JSON.stringify({ folder, ...manifest }) : sentence)
  })

program
  .command('restore <folder>')
  .description('put a backup into the data folder (DATA_DIR, .data unless said) of a system that does not run')
  .option('--aside', 'where the folder holds data, put that aside instead of refusing; it stays in before-restore-…')
  .option('--json', 'one line of JSON: data_dir, aside, moment, files, bytes, version')
  .addHelpText('after', `\nExample:\n  $ DATA_DIR=.data-restored ${calledAs} restore ../weir-backup`)
  .action(async (folder: string, { json = false, aside = false }: { json?: boolean; aside?: boolean }) => {
    const restored = await restoreBackup(dataDir, folder, { aside, say })
    const { entries: _, ...manifest } = restored.manifest
    if (restored.aside) say(`what was there is in ${restored.aside}`)
    print(
      json
        ? JSON.stringify({ data_dir: dataDir, aside: restored.aside ?? null, ...manifest })
        : `${dataDir} is as it was at ${manifest.moment}. Next: npm start, and once it runs: ${calledAs} verify`,
    )
  })

try {
  await program.parseAsync()
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode
  else {
    const line = explained(error)
    if (line === undefined) throw error
    say(`weir: ${line}`)
    process.exitCode = 1
  }
}

function explained(error: unknown): string | undefined {
  if (error instanceof BackupRefused || error instanceof DataFolderInUse) return error.message
  const refusal = refusalOf(error)
  return refusal && `${(error as NodeJS.ErrnoException).path ?? 'the folder'} cannot be used: ${refusal}`
}
