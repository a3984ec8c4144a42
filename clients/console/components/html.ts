import htm from '../vendor/htm.js'
import { h, type VNode } from '../vendor/preact.js'

/**
 * Makes elements of a template. A value that stands in it becomes text, an attribute, a handler or a child, and never HTML: text
 * from records can be shown as it came.
 */
export const html = htm.bind(h as never) as unknown as (strings: TemplateStringsArray, ...values: unknown[]) => VNode
