import { safeHref } from '../../shared/page-content.ts'
import { defineFlow, PinError } from '../block.ts'

const tones = ['neutral', 'info', 'success', 'warning', 'danger'] as const

export default defineFlow({
  identifier: 'state_redirect',
  title: 'Go to page',
  summary:
    'Sends the browser to another page, as a flow should when a form was saved: a page that is loaded again then sends nothing twice.',
  in: {
    url: { type: 'value', required: true, help: 'Where to: a path such as /tasks, or a full address.' },
    message: { type: 'value', help: 'Shown once on the page that follows.' },
    tone: { type: 'value', default: 'success', choices: tones, help: 'How the message is meant.' },
  },
  out: {},
  settings: {},
  run(inputs, context) {
    if (!context.request?.visit) throw new Error('Only a page can send the browser elsewhere.')
    const to = safeHref(inputs.url)
    if (to === undefined || /^(?:mailto|tel):/i.test(to))
      throw new PinError('url', 'must be a path such as /tasks or an address that begins with https://')
    const tone = tones.find((one) => one === inputs.tone) ?? 'success'
    const notice = inputs.message ? { tone, text: inputs.message } : undefined
    context.reply({ code: 303, value: undefined, headers: {}, page: { kind: 'redirect', to, notice } })
    return undefined
  },
})
