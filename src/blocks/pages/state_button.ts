import { appendNode, type PageButton } from '../../shared/pages/page-content.ts'
import { defineValue } from '../block.ts'
import { pageHref } from './page-pins.ts'

const kinds = ['submit', 'action', 'link'] as const
const tones = ['primary', 'plain', 'danger'] as const

export default defineValue({
  identifier: 'state_button',
  title: 'Button',
  words: 'Button {label}',
  summary: 'Adds a button to the page. It submits its form, runs an action, or links to another page.',
  in: {
    state: { type: 'state', help: 'Content before it.' },
    label: { type: 'value', required: true, help: 'Label of the button.' },
    kind: {
      type: 'value',
      default: 'submit',
      choices: kinds,
      help: 'What it does. submit: sends its form; if click is wired, the flow continues there instead of at submit. action: runs the flow at click without a form. link: opens url.',
    },
    url: { type: 'value', help: 'Target of a link.' },
    value: { type: 'value', help: 'Value for the flow at click, such as the guid of a document.' },
    confirm: { type: 'value', help: 'Confirmation question.' },
    tone: { type: 'value', choices: tones, help: 'Style: primary, plain or danger.' },
  },
  out: {
    state: { type: 'state', help: 'The page with the button.' },
    click: { type: 'flow', event: true, help: 'Continues here when the button is clicked.' },
    clicked: { type: 'value', event: true, help: 'In the flow at click: value of the button.' },
    values: {
      type: 'object',
      event: true,
      help: 'In the flow at click: values of its form.',
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
