/**
 * A table in a card: title and tools above, rows, pages below. Search, filters, columns and pages are links and GET forms;
 * the rows stand in one POST form, so that buttons of rows and check boxes need no script.
 */
import { type ComponentChild, h } from 'preact'
import type { PageTable, TableAction } from '../../shared/pages/page-table.ts'
import { linkTo } from '../address.ts'
import type { Drawing } from '../drawing.ts'
import { formatNumber } from '../format.ts'
import { actionButton } from './button.ts'
import { emptyState } from './empty-state.ts'
import { hiddenInputs } from './form.ts'
import { tableRows } from './table-rows.ts'
import { tableTools } from './table-tools.ts'

export function table(node: PageTable, drawing: Drawing): ComponentChild {
  const { say } = drawing
  const title = `${node.id}-title`
  const inner = drawing.deeper()
  return h(
    'section',
    {
      class: 'table-card',
      id: node.id,
      'aria-labelledby': title,
      'data-table': '',
      'data-live': node.live ? '' : undefined,
    },
    h(
      'div',
      { class: 'table-head' },
      h(
        'div',
        { class: 'table-title' },
        h(`h${drawing.level}`, { id: title }, node.caption),
        node.total === undefined
          ? null
          : h('span', { class: 'soft', role: 'status' }, say.counted('table.rows', node.total)),
      ),
      tableTools(node, drawing),
    ),
    node.rows.length === 0 ? nothing(node, inner) : rows(node, title, inner),
    tableFoot(node, drawing),
  )
}

function nothing({ search, empty }: PageTable, { say }: Drawing): ComponentChild {
  if (!search?.active) return emptyState({ title: empty ?? say('table.empty') })
  return emptyState({
    title: say('table.empty.found'),
    text: say('table.empty.found.text'),
    action: h('a', { class: 'button small', href: search.clearHref, 'data-part': '' }, say('table.clear')),
  })
}

function rows(node: PageTable, title: string, drawing: Drawing): ComponentChild {
  const scroll = h(
    'div',
    // What scrolls can be reached with the keyboard.
    { class: 'table-scroll', role: 'group', 'aria-labelledby': title, tabIndex: 0 },
    tableRows(node, drawing),
  )
  const { actions } = node
  if (!actions) return scroll
  return h(
    'form',
    { method: 'post', action: actions.action, 'data-send': '', class: 'rows-form' },
    hiddenInputs(actions.hidden),
    actions.rows.length === 0 ? null : bulkBar(node.id, actions.rows, actions.bulkName, drawing),
    scroll,
  )
}

function bulkBar(
  table: string,
  offered: readonly TableAction[],
  name: string,
  drawing: Drawing,
): ComponentChild {
  const { say } = drawing
  return h(
    'div',
    { class: 'bulk', role: 'group', 'aria-label': say('table.selected') },
    h(
      'span',
      {
        'data-selected': '',
        'data-one': say.counted('table.selected', 1),
        'data-other': say('table.selected.other', { count: '{count}' }),
      },
      say('table.selected'),
    ),
    offered.map((action) => actionButton(action, { name, value: action.name }, [table], drawing)),
  )
}

/** Which rows of how many, and the way to the others. Nothing when all are shown. */
function tableFoot(node: PageTable, { say, locale }: Drawing): ComponentChild | null {
  const { pages, from, to, total, caption } = node
  if (!pages || pages.count < 2 || total === undefined) return null
  const step = (label: string, href: string | undefined, rel: string): ComponentChild | null =>
    href === undefined ? null : h('li', null, h('a', { ...linkTo(href), rel, 'data-part': '' }, label))
  const gapped = pages.numbers.flatMap((one, at) => {
    const before = pages.numbers[at - 1]
    const gap =
      before && one.page > before.page + 1 ? [h('li', { 'aria-hidden': 'true' }, h('span', null, '…'))] : []
    const label = say('table.page', { page: one.page })
    const current = one.current ? 'page' : undefined
    return [
      ...gap,
      h(
        'li',
        null,
        h(
          'a',
          { ...linkTo(one.href), 'aria-label': label, 'aria-current': current, 'data-part': '' },
          formatNumber(one.page, locale),
        ),
      ),
    ]
  })
  return h(
    'div',
    { class: 'table-foot' },
    h('span', null, from === undefined || to === undefined ? null : say('table.range', { from, to, total })),
    h(
      'nav',
      { class: 'pages', 'aria-label': say('table.pages', { table: caption }) },
      h(
        'ul',
        null,
        step(say('table.previous'), pages.previous, 'prev'),
        gapped,
        step(say('table.next'), pages.next, 'next'),
      ),
    ),
  )
}
