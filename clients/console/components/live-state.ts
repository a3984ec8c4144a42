import type { VNode } from 'preact'
import type { LiveState } from '../api/live.js'
import { html } from './html.js'
import { sentence } from './words.js'

/** Whether what is shown comes by itself. Green only while it does. */
export const LiveBadge = ({ state }: { state: LiveState }): VNode => html`
  <span role="status">${state.isOpen ? html`<span class="badge accepted">live</span>` : html`<span class="badge waiting">${state.status === undefined ? 'connecting…' : 'not live'}</span>`}</span>`

/** Why it does not come, and what can be done about that. */
export const LiveReason = ({ state }: { state: LiveState }): VNode => html`
  <div role="status">${state.reason && !state.isOpen && html`<p class="notice"><strong>Not live:</strong> ${sentence(state.reason)} ${wayOut(state)}</p>`}</div>`

const wayOut = ({ status, isRefused }: LiveState): string => {
  if (status === 429)
    return 'Other browsers or programs follow streams with this key: where one of them is closed, this page goes on by itself.'
  return isRefused
    ? 'Sign in with another key, or ask the operator what this one may see.'
    : 'This page tries again by itself.'
}
