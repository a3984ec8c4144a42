/** Where a part is, fit to be shown: without the password, and without parameters, which may hold one. */
export const addressOf = (url: string): string => {
  if (!URL.canParse(url)) return 'the address that was given'
  const address = new URL(url)
  address.password = ''
  address.search = ''
  return address.href.replace(/\/$/, '')
}
