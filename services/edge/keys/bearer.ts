const bearerPattern = /^Bearer +([\x21-\x7e]{1,512}) *$/i

/** The key that a request shows, if it shows one. */
export const bearerOf = (authorization: string | undefined): string | undefined =>
  authorization === undefined ? undefined : bearerPattern.exec(authorization)?.[1]
