import {
  autocompletion,
  type CompletionContext,
  type CompletionResult,
  completionKeymap,
} from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { SQLDialect, sql } from '@codemirror/lang-sql'
import { bracketMatching, HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import { EditorState } from '@codemirror/state'
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers, placeholder } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import type { VNode } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { html } from '../../components/html.js'
import { type SqlTable, suggestionsFor } from './tables.js'

/** What the page does with the text besides what is typed. */
export type EditorHandle = { setText: (text: string) => void; insert: (text: string) => void; focus: () => void }

type EditorProps = {
  text: string
  tables: readonly SqlTable[]
  onText: (text: string) => void
  onRun: () => void
  onReady: (handle: EditorHandle) => void
}

/**
 * A text of SQL with colours and completion. It stands in a shadow root: the editor's own styles are adopted there as a sheet, while in the
 * page they would be a style element, which the content security policy forbids. Tab leaves it, as any other field.
 */
export const Editor = ({ text, tables, onText, onRun, onReady }: EditorProps): VNode => {
  const place = useRef<HTMLDivElement>(null)
  // The editor is made once, and asks for what is true by then.
  const now = useRef({ tables, onText, onRun })
  now.current = { tables, onText, onRun }
  useEffect(() => {
    const element = place.current
    if (!element) return
    const root = element.shadowRoot ?? element.attachShadow({ mode: 'open' })
    const complete = (context: CompletionContext) => completionsAt(context, now.current.tables)
    const run = () => {
      now.current.onRun()
      return true
    }
    const view = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: text,
        extensions: [
          // Before the others: Enter alone is a new line.
          keymap.of([{ key: 'Mod-Enter', run }]),
          lineNumbers(),
          history(),
          drawSelection(),
          highlightActiveLine(),
          bracketMatching(),
          EditorView.lineWrapping,
          sql({ dialect: clickhouse }),
          clickhouse.language.data.of({ autocomplete: complete }),
          autocompletion({ icons: false }),
          syntaxHighlighting(colours),
          look,
          placeholder('select … from …'),
          EditorView.contentAttributes.of({ 'aria-label': 'Query', spellcheck: 'false' }),
          keymap.of([...completionKeymap, ...historyKeymap, ...defaultKeymap]),
          typingOver,
          EditorView.updateListener.of((update) => {
            if (update.docChanged) now.current.onText(update.state.doc.toString())
          }),
        ],
      }),
    })
    onReady({
      setText: (next) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: next } }),
      insert: (piece) => {
        view.dispatch(view.state.replaceSelection(piece))
        view.focus()
      },
      focus: () => view.focus(),
    })
    return () => view.destroy()
  }, [])
  return html`<div class="editor" ref=${place}></div>`
}

/**
 * Text that is typed over a selection is put in by the editor. Chromium would give it the colour of what it replaces, as a style attribute,
 * which the content security policy forbids: it would be left out, with an error in the browser's log each time.
 */
const typingOver = EditorView.domEventHandlers({
  beforeinput: (event, view) => {
    if (event.inputType !== 'insertText' || !event.data || view.state.selection.main.empty) return false
    event.preventDefault()
    view.dispatch(view.state.replaceSelection(event.data), { userEvent: 'input.type', scrollIntoView: true })
    return true
  },
})

const completionsAt = (context: CompletionContext, tables: readonly SqlTable[]): CompletionResult | null => {
  const word = context.matchBefore(/\w*/)
  const before = context.state.sliceDoc(Math.max(0, context.pos - 200), context.pos)
  if (!word || (word.from === word.to && !context.explicit && !before.endsWith('.'))) return null
  const found = suggestionsFor(context.state.doc.toString(), before, tables)
  const order = { column: 3, table: 2, function: 1 }
  return {
    from: word.from,
    validFor: /^\w*$/,
    options: found.map(({ label, kind, detail, about }) => ({
      label,
      detail,
      info: about,
      boost: order[kind],
      ...(kind === 'function' && { apply: `${label}(` }),
    })),
  }
}

const clickhouse = SQLDialect.define({
  keywords:
    'all and any anti array as asc asof between by case cross cube desc describe distinct else end except exists explain final first following from full global group having ilike in inner intersect interval into is join last left like limit not null nulls offset on or order outer over partition preceding prewhere qualify recursive right rollup rows sample select semi settings show tables then ties totals true false unbounded union using when where window with',
  types:
    'String UUID Date Date32 DateTime DateTime64 Bool Float64 UInt64 Int64 UInt32 Int32 Decimal Nullable LowCardinality Array',
  backslashEscapes: true,
  identifierQuotes: '`"',
})

const colours = HighlightStyle.define([
  { tag: tags.keyword, color: 'var(--link)', fontWeight: '600' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--accepted)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--interactions)' },
  { tag: tags.typeName, color: 'var(--waiting)' },
  { tag: tags.comment, color: 'var(--soft)', fontStyle: 'italic' },
])

// The colours are the page's variables, which are others in the dark.
const look = EditorView.theme({
  '&': {
    color: 'var(--ink)',
    backgroundColor: 'var(--card)',
    border: '1px solid #7c8f99',
    borderRadius: '6px',
    fontSize: '14px',
  },
  '&.cm-focused': { outline: '3px solid var(--link)', outlineOffset: '2px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', minHeight: '11rem', maxHeight: '28rem', overflow: 'auto' },
  '.cm-content': { caretColor: 'var(--ink)' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '.cm-gutters': { backgroundColor: 'var(--faint)', color: 'var(--soft)', border: 'none' },
  '.cm-activeLine': { backgroundColor: 'rgb(var(--shade) / 6%)' },
  '.cm-placeholder': { color: 'var(--soft)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'rgb(var(--shade) / 25%)',
  },
  '&.cm-focused .cm-matchingBracket': { backgroundColor: 'rgb(var(--shade) / 30%)' },
  '.cm-tooltip': { backgroundColor: 'var(--card)', color: 'var(--ink)', border: '1px solid var(--line)' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--mono)', maxHeight: '14rem' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { backgroundColor: 'var(--brand)', color: 'var(--brand-ink)' },
  '.cm-completionInfo': { maxWidth: '20rem', padding: '0.4rem 0.6rem' },
  '.cm-completionDetail': { fontStyle: 'normal', opacity: '0.8' },
})
