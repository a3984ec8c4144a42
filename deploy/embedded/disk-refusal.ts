const refusals: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EROFS: 'the disk is read-only',
  EACCES: 'it may not be written to',
  EPERM: 'it may not be written to',
  ENOTDIR: 'there is a file in its place',
  EIO: 'the disk has an error',
}

/** In words, why a disk did not take what was written; undefined where the error is another one. */
export const refusalOf = (error: unknown): string | undefined => refusals[(error as NodeJS.ErrnoException).code ?? '']

/** Does what is good to have, but not worth stopping for. */
export const unlessDiskRefuses = (work: () => void): void => {
  try {
    work()
  } catch (error) {
    if (refusalOf(error) === undefined) throw error
  }
}
