/** Something that must never be was seen. */
export class Violation extends Error {}
