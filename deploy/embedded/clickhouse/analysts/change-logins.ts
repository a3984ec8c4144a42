import type { Logins } from './logins.js'

/** GET lists the analysts, PUT makes one of an organisation with the hash of a password, DELETE takes one away. */
export const changeLogins = async (
  logins: Pick<Logins, 'list' | 'has' | 'add' | 'drop'>,
  method: string,
  parameters: URLSearchParams,
): Promise<{ status: number; body: unknown }> => {
  const org = parameters.get('org') ?? ''
  const masked = parameters.get('masked') === '1'
  const passwordSha256 = parameters.get('password_sha256') ?? ''
  if (method === 'GET') return { status: 200, body: logins.list() }
  if (!/^[a-z0-9][a-z0-9-]{0,62}$/.test(org)) return { status: 400, body: { problem: 'org must name an organisation' } }
  if (method === 'DELETE') {
    await logins.drop({ org, masked })
    return { status: 200, body: {} }
  }
  if (method !== 'PUT') return { status: 405, body: { problem: 'GET, PUT or DELETE' } }
  if (!/^[0-9a-f]{64}$/.test(passwordSha256))
    return { status: 400, body: { problem: 'password_sha256 must be a hash of 64 hexadecimal digits' } }
  if (logins.has({ org, masked })) return { status: 409, body: { problem: 'this analyst is there already' } }
  await logins.add({ org, masked, passwordSha256 })
  return { status: 201, body: {} }
}
