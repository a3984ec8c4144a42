/** What stands in the way of a backup or a restore, in one line with what to do. */
export class BackupRefused extends Error {
  override name = 'BackupRefused'
}
