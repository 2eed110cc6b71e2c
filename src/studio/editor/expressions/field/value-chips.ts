import {
  Decoration,
  type DecorationSet,
  EditorView,
  ViewPlugin,
  type ViewUpdate,
  WidgetType,
} from '@codemirror/view'
import { propertiesTexts } from '../../../texts/properties.ts'
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
    chip.title = propertiesTexts.openValue
    return chip
  }

  /** A click is for the field: it opens the value. */
  override ignoreEvent(): boolean {
    return false
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

export function valueChips(opened: (path: string) => void) {
  return [
    chips,
    EditorView.theme({ '.cm-scroller': { fontFamily: 'inherit' }, '.cm-chip': { cursor: 'pointer' } }),
    EditorView.domEventHandlers({
      click(event, view) {
        if (!(event.target instanceof HTMLElement) || !event.target.matches('.cm-chip')) return false
        const at = view.posAtDOM(event.target)
        const value = valuesIn(view.state.doc.toString()).find(({ start, end }) => start <= at && at <= end)
        if (!value) return false
        view.dispatch({ selection: { anchor: value.start, head: value.end } })
        opened(value.path)
        return true
      },
    }),
  ]
}

function chipsIn(text: string): DecorationSet {
  return Decoration.set(
    valuesIn(text).map(({ path, start, end }) =>
      Decoration.replace({ widget: new Chip(path) }).range(start, end),
    ),
  )
}
