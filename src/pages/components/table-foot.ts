import { type ComponentChild, h } from 'preact'
import type { PageTable } from '../../shared/pages/page-table.ts'
import { linkTo } from '../address.ts'
import type { Drawing } from '../drawing.ts'
import { formatNumber } from '../format.ts'

/** Which rows of how many, and the way to the others. Nothing when all are shown. */
export function tableFoot(node: PageTable, { say, locale }: Drawing): ComponentChild | null {
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
