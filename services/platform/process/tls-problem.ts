/** What an operator calls a part, and the words that say where its TLS is set up. */
export type TlsWords = {
  part: string
  /** The variable that names the authority. */
  ca: string
  /** What to do where the part speaks no TLS, such as: leave KAFKA_TLS out. */
  off: string
  /** What to do where the part speaks TLS and we do not; left out where we do. */
  on?: string | undefined
}

const notTrusted = (
  'DEPTH_ZERO_SELF_SIGNED_CERT SELF_SIGNED_CERT_IN_CHAIN UNABLE_TO_GET_ISSUER_CERT ' +
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY UNABLE_TO_VERIFY_LEAF_SIGNATURE'
).split(' ')
const notNow = ['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID']
/** Said by OpenSSL about an answer that is not TLS, by Node about one that does not come, and by HTTP about one that is TLS. */
const notTls = ['ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG', 'EPROTO']
const isTls = ['HPE_INVALID_CONSTANT']

/** One line that says what is wrong with a connection's TLS, and what to do; undefined where that is not what went wrong. */
export const tlsProblem = (error: unknown, { part, ca, on, off }: TlsWords): string | undefined => {
  const { code = '', message = '' } = (error ?? {}) as { code?: string; message?: string }
  // Behind a semicolon Node 24 has advice of its own.
  if (notTrusted.includes(code))
    return `${part} has a certificate of an authority that is not trusted here (${message.split(';')[0]}): name the file with that authority's certificate (PEM) in ${ca}`
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return `${part} has a certificate for another name (${message}): reach it by a name in its certificate`
  if (notNow.includes(code)) return `${part} has a certificate that is not valid now (${message}): renew it`
  if (notTls.includes(code)) return `${part} does not speak TLS there: ${off}`
  // A part that is stopped at that moment looks the same, hence the question.
  if (/before secure TLS connection was established/.test(message))
    return `${part} hung up before TLS began: does it speak TLS there? If not, ${off}`
  if (on && isTls.includes(code)) return `${part} speaks TLS there: ${on}`
  if (on && message === 'socket hang up')
    return `${part} hung up without an answer: does it speak TLS there? Then ${on}`
  return undefined
}
