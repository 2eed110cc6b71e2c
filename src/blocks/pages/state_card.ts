import { appendNode, nodesOf } from '../../shared/pages/page-content.ts'
import { valueFormats } from '../../shared/value-format.ts'
import { defineValue } from '../block.ts'
import type { ValueContext } from '../context.ts'
import { pageHref } from './page-pins.ts'

export default defineValue({
  identifier: 'state_card',
  title: 'Card',
  words: 'Card {title}',
  summary: 'Adds a card to the page: content with a title, or one large figure for a dashboard.',
  in: {
    state: { type: 'state', help: 'Content above it.' },
    title: { type: 'value', help: 'Title of the card.' },
    figure: { type: 'value', help: 'Figure: a number or a few words, shown large.' },
    note: { type: 'value', help: 'Small text below the title or the figure.' },
    kind: {
      type: 'value',
      choices: ['number', 'currency', 'percent'],
      help: 'Format of a figure that is a number. Empty: as it is written.',
    },
    currency: {
      type: 'value',
      help: 'Currency of an amount: a code such as EUR, or the field that has one, such as orders.total.',
    },
    content: { type: 'state', help: 'Content of the card.' },
    url: { type: 'value', help: 'Target of a link on the title.' },
  },
  out: { state: { type: 'state', help: 'The page with the card.' } },
  settings: {},
  value({ state, title, figure, note, kind, currency, content, url }, context) {
    const textsOf = groupedTexts(context)
    const format = valueFormats.find((one) => one === kind)
    return {
      state: appendNode(state, {
        kind: 'card',
        content: nodesOf(content),
        ...(textsOf && { textsOf }),
        ...(title !== undefined && { title }),
        ...(figure !== undefined && { figure }),
        ...(format !== undefined && { format }),
        ...(currency !== undefined && { currency }),
        ...(note !== undefined && { note }),
        ...(url !== undefined && { href: pageHref('url', url) }),
      }),
    }
  },
})

function groupedTexts({ groupedBy }: Pick<ValueContext, 'groupedBy'>) {
  const texts = (['title', 'figure', 'note'] as const).flatMap((text) => {
    const field = groupedBy?.(text)
    return field === undefined ? [] : [[text, field] as const]
  })
  return texts.length === 0 ? undefined : Object.fromEntries(texts)
}
