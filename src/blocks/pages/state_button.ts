import { appendNode, type PageButton } from '../../shared/page-content.ts'
import { defineValue } from '../block.ts'
import { pageHref } from './page-href.ts'

const kinds = ['submit', 'action', 'link'] as const
const tones = ['primary', 'plain', 'danger'] as const

export default defineValue({
  identifier: 'state_button',
  title: 'Button',
  summary:
    'Adds a button to the page: one that sends the form it stands in, one that does something by itself, or one that leads to another page.',
  in: {
    state: { type: 'state', help: 'What is before it.' },
    label: { type: 'value', required: true, help: 'Words on the button.' },
    kind: {
      type: 'value',
      default: 'submit',
      choices: kinds,
      help: 'What it does: submit sends the form around it, and the flow behind click goes on instead of the one behind submit if it is wired. action runs the flow behind click without a form. link leads to url.',
    },
    url: { type: 'value', help: 'Where a link leads.' },
    value: { type: 'value', help: 'What the flow behind click is told, such as the guid of a document.' },
    confirm: { type: 'value', help: 'A question that has to be answered first.' },
    tone: { type: 'value', choices: tones, help: 'How it looks: primary, plain or danger.' },
  },
  out: {
    state: { type: 'state', help: 'The page with the button.' },
    click: { type: 'flow', event: true, help: 'Goes on when the button was clicked.' },
    clicked: { type: 'value', event: true, help: 'In the flow behind click: the value of the button.' },
    values: {
      type: 'object',
      event: true,
      help: 'In the flow behind click: what was sent with the form around it.',
    },
  },
  settings: {},
  value(inputs, context) {
    const action = kinds.find((kind) => kind === inputs.kind) ?? 'submit'
    const tone = tones.find((one) => one === inputs.tone)
    const button: PageButton = {
      kind: 'button',
      label: inputs.label,
      action,
      ...(action === 'link' ? { href: pageHref('url', inputs.url ?? '') } : {}),
      ...(action !== 'link' && context.wired('click') && { block: context.block ?? '' }),
      ...(inputs.value !== undefined && { value: inputs.value }),
      ...(inputs.confirm !== undefined && { confirm: inputs.confirm }),
      ...(tone !== undefined && { tone }),
    }
    return { state: appendNode(inputs.state, button) }
  },
})
