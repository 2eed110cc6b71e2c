import {
  Decoration,
  type DecorationSet,
  EditorView,
  ViewPlugin,
  type ViewUpdate,
  WidgetType,
} from '@codemirror/view'
import { valuesIn } from '../template-text.ts'

class Chip extends WidgetType {
  readonly path: string

  constructor(path: string) {
    super()
    this.path = path
  }

  override eq(other: Chip): boolean {
    return other.path === this.path
  }

  toDOM(): HTMLElement {
    const chip = document.createElement('span')
    chip.className = 'cm-chip'
    chip.textContent = this.path
    return chip
  }
}

/** The values of a text, each drawn and removed as a whole. */
const chips = ViewPlugin.fromClass(
  class {
    values: DecorationSet

    constructor({ state }: EditorView) {
      this.values = chipsIn(state.doc.toString())
    }

    update({ docChanged, state }: ViewUpdate) {
      if (docChanged) this.values = chipsIn(state.doc.toString())
    }
  },
  {
    decorations: ({ values }) => values,
    provide: (plugin) => EditorView.atomicRanges.of((view) => view.plugin(plugin)?.values ?? Decoration.none),
  },
)

export const valueChips = [chips, EditorView.theme({ '.cm-scroller': { fontFamily: 'inherit' } })]

function chipsIn(text: string): DecorationSet {
  return Decoration.set(
    valuesIn(text).map(({ path, start, end }) =>
      Decoration.replace({ widget: new Chip(path) }).range(start, end),
    ),
  )
}
