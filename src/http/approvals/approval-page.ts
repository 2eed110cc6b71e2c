import { detailsOf } from '../../flows/background/my-tasks.ts'
import type { WaitRecord } from '../../flows/run/wait-record.ts'
import type { PageMessages } from '../../pages/messages.ts'
import { isJsonObject, type JsonValue } from '../../shared/json.ts'
import type { PageNode, ShownPage } from '../../shared/pages/page-content.ts'

export const approvalForm = 'decision'

export const LONGEST_COMMENT = 2_000

export type Decision = 'approved' | 'rejected'

/** What a button of the form sends, and what it decides. */
export const decisions: Readonly<Record<string, Decision>> = {
  'approve ': 'approved',
  'reject ': 'rejected',
}

/** The page on which a person decides: what the block says, a comment and two buttons. */
export function approvalPage(wait: WaitRecord, say: PageMessages): ShownPage {
  const { title, text, fields } = detailsOf(wait)
  const { until } = wait
  const items = [
    ...Object.entries(fields).map(([label, value]) => ({
      label,
      value: shown(value),
      format: 'auto' as const,
    })),
    ...(until === null
      ? []
      : [
          {
            label: say('approval.until'),
            value: new Date(until).toISOString(),
            format: 'date_time' as const,
          },
        ]),
  ]
  const more: PageNode[] = [
    ...(text === '' ? [] : [{ kind: 'text', text } as const]),
    ...(items.length === 0 ? [] : [{ kind: 'detail', items } as const]),
  ]
  return page(title, 200, [
    ...more,
    {
      kind: 'form',
      id: approvalForm,
      block: '',
      content: [
        {
          ...({ kind: 'input', type: 'area', name: 'comment' } as const),
          label: say('approval.comment'),
          maxLength: LONGEST_COMMENT,
        },
        button('approve', say('approval.approve'), 'primary'),
        button('reject', say('approval.reject'), 'danger'),
      ],
    },
  ])
}

/** Said to the person who has decided. */
export function decidedPage(wait: WaitRecord, decision: Decision, say: PageMessages): ShownPage {
  const done: PageNode[] = [
    { kind: 'text', variant: 'lead', text: detailsOf(wait).title },
    { kind: 'text', text: say('approval.done') },
  ]
  return page(say(`approval.${decision}`), 200, done)
}

/** Said where there is nothing to decide: the same for all reasons, so that nothing can be probed. */
export function gonePage(say: PageMessages): ShownPage {
  return page(say('approval.gone.title'), 404, [{ kind: 'text', text: say('approval.gone.text') }])
}

/** Said to the slower one of two. */
export function latePage(say: PageMessages): ShownPage {
  return page(say('approval.late.title'), 409, [{ kind: 'text', text: say('approval.late.text') }])
}

/** An object as a line for each of its values, which JSON would be hard to read. */
function shown(value: JsonValue): JsonValue {
  if (!isJsonObject(value)) return value
  const lines = Object.entries(value).map(
    ([name, part]) => `${name}: ${typeof part === 'string' ? part : JSON.stringify(part)}`,
  )
  return lines.join('\n')
}

function page(title: string, status: number, content: readonly PageNode[]): ShownPage {
  return {
    title,
    content: [{ kind: 'heading', level: 1, text: title }, ...content],
    template: undefined,
    status,
  }
}

function button(block: string, label: string, tone: 'primary' | 'danger'): PageNode {
  return { kind: 'button', action: 'submit', block, label, tone }
}
