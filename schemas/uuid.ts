const pattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** 8-4-4-4-12 hexadecimal digits of any version, in either case. */
export const isUuid = (text: string): boolean => pattern.test(text)
