import htm from 'htm'
import { h, type VNode } from 'preact'

// Its types are read as those of a CommonJS module, which it is not for vite.
const bound = htm as unknown as typeof htm.default

/** Makes elements of a template. A value becomes text, an attribute, a handler or a child, and never HTML. */
export const html = bound.bind(h as never) as unknown as (strings: TemplateStringsArray, ...values: unknown[]) => VNode
