import { defineFlow } from '../block.ts'
import { redirectTarget } from '../names.ts'

const tones = ['neutral', 'info', 'success', 'warning', 'danger'] as const

export default defineFlow({
  identifier: 'state_redirect',
  title: 'Go to page',
  words: 'Go to {url}',
  summary:
    'Redirects the browser to another page. Use it after a form was saved: reloading the page then does not submit the form again.',
  in: {
    url: {
      type: 'value',
      required: true,
      help: 'Target: a path such as /tasks, or a full address. Behind a form, one of another site is opened by a page that goes on by itself.',
    },
    message: { type: 'value', help: 'Message, shown once on the next page.' },
    tone: { type: 'value', default: 'success', choices: tones, help: 'Kind of the message.' },
  },
  out: {},
  settings: {},
  run(inputs, context) {
    if (!context.request?.visit) throw new Error('Only a page can redirect the browser.')
    const to = redirectTarget('url', inputs.url)
    const tone = tones.find((one) => one === inputs.tone) ?? 'success'
    const notice = inputs.message ? { tone, text: inputs.message } : undefined
    context.reply({ code: 303, value: undefined, headers: {}, page: { kind: 'redirect', to, notice } })
    return undefined
  },
})
