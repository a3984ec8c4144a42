// The password of an organisation's analyst, kept as the key is: by this tab, until it is closed or signed out.

const prefix = 'weir.analyst.'

export const passwordOf = (org: string): string | undefined => sessionStorage.getItem(prefix + org) ?? undefined

export const keepPassword = (org: string, password: string): void => sessionStorage.setItem(prefix + org, password)

export const forgetPassword = (org: string): void => sessionStorage.removeItem(prefix + org)

export const forgetPasswords = (): void => {
  for (const name of Object.keys(sessionStorage)) if (name.startsWith(prefix)) sessionStorage.removeItem(name)
}
