import { nodesOf, type ShownPage } from '../../shared/page-content.ts'
import { defineFlow } from '../block.ts'

export default defineFlow({
  identifier: 'state_render_page',
  title: 'Show page',
  summary: 'Shows a page made of the blocks that lead to its state. Only in the flow of a page.',
  in: {
    state: { type: 'state', help: 'What the page shows, from top to bottom. Empty: nothing but its layout.' },
    template: {
      type: 'value',
      help: 'Name of the page template around it. Empty: the layout that comes with Quoin.',
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
      content: nodesOf(inputs.state),
      title: inputs.title,
      template: inputs.template,
      status: inputs.code,
    }
    if (visit.show(page)) return { next: null }
    context.reply({ code: page.status, value: undefined, headers: {}, page: { kind: 'show', ...page } })
    return undefined
  },
})
