import htm from '../vendor/htm.js'
import { h, type VNode } from '../vendor/preact.js'

/** Makes elements of a template. A value becomes text, an attribute, a handler or a child, and never HTML. */
export const html = htm.bind(h as never) as unknown as (strings: TemplateStringsArray, ...values: unknown[]) => VNode
