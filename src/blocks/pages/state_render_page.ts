import { everyNode, nodesOf, type PageNode, type ShownPage } from '../../shared/pages/page-content.ts'
import { defineFlow, PinError } from '../block.ts'

/** Drawn in one turn of the event loop: 20 to 40 µs each, in which nothing else is served. */
const MOST_NODES = 20_000

export default defineFlow({
  identifier: 'state_render_page',
  title: 'Show page',
  words: 'Show page[ {title}]',
  summary: 'Replies with a page built from the blocks that lead to its state. Only in the flow of a page.',
  in: {
    state: { type: 'state', help: 'Content of the page, from top to bottom. Empty: only the layout.' },
    template: {
      type: 'value',
      help: 'Name of the page template. Empty: the default layout of Quoin.',
    },
    title: { type: 'value', help: 'Title of the page. Empty: the title of the page block.' },
    code: { type: 'number', default: 200, min: 200, max: 599, integer: true, help: 'The HTTP status.' },
  },
  out: {},
  settings: {},
  run(inputs, context) {
    const visit = context.request?.visit
    if (!visit) throw new Error('A page can be shown only in the flow of a page block.')
    const page: ShownPage = {
      content: bounded(nodesOf(inputs.state)),
      title: inputs.title,
      template: inputs.template,
      status: inputs.code,
    }
    if (visit.show(page)) return { next: null }
    context.reply({ code: page.status, value: undefined, headers: {}, page: { kind: 'show', ...page } })
    return undefined
  },
})

/** Counted as they are drawn: what stands on the page in several places counts in each. */
function bounded(content: readonly PageNode[]): readonly PageNode[] {
  let left = MOST_NODES
  for (const _ of everyNode(content)) {
    left -= 1
    if (left < 0)
      throw new PinError('state', `holds more than ${MOST_NODES.toLocaleString('en-US')} parts: show fewer`)
  }
  return content
}
