type Kind = 'mount' | 'net'

const isRoot = (): boolean => process.getuid?.() === 0

/** Put before a command, these run it in a new namespace of this kind, in which it is root. Where we are not, that takes a user namespace. */
export const inNewNamespace = (kind: Kind): string[] => [
  'unshare',
  `--${kind}`,
  ...(isRoot() ? [] : ['--user', '--map-root-user']),
]

/**
 * Put before a command, these run it in the namespace of another process. There a normal user is root, and Postgres refuses to
 * run as root; in a second namespace within the first, the user has its own number again.
 */
export const inNamespaceOf = (pid: number, kind: Kind): string[] => [
  ...['nsenter', `--target=${pid}`, `--${kind}`],
  ...(isRoot()
    ? []
    : [
        ...['--user', '--preserve-credentials'],
        ...['unshare', '--user', `--map-user=${process.getuid?.()}`, `--map-group=${process.getgid?.()}`],
      ]),
]
