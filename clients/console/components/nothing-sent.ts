import type { VNode } from 'preact'
import { linkTo } from '../frame/route.js'
import { html } from './html.js'
import { Empty } from './shown.js'

/** For a page without any record: how to send the first one, by the console or by the uploader from /downloads/. */
export const NothingSent = ({ title = 'Nothing was sent yet.' }: { title?: string }): VNode => html`
  <${Empty} title=${title}>
    <p><a href=${linkTo(['upload'])}>Upload a file</a>: there is a template for each type. Or send records from a program, or with the
    uploader for the command line, which can also make sample files: both are at <a href="/downloads/">downloads</a>.</p>
  <//>`
