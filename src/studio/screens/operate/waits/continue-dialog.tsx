import { Text, Textarea } from '@mantine/core'
import { useState } from 'react'
import type { Wait } from '../../../../shared/api/operate/waits.ts'
import type { JsonObject } from '../../../../shared/json.ts'
import { continueWait } from '../../../api/waits.ts'
import { FormDialog } from '../../../controls/form-dialog.tsx'
import { JsonField } from '../../../controls/json/json-field.tsx'
import { waitsTexts } from '../../../texts/waits.ts'
import type { WaitWay } from './wait-ways.ts'

interface ContinueDialogProps {
  readonly wait: Wait
  /** Undefined: nothing is asked. */
  readonly way: WaitWay | undefined
  readonly onClose: () => void
  /** The wait has ended. */
  readonly onEnded: () => Promise<void>
}

/** Asks before a wait is ended by hand, and for what comes with the way. */
export function ContinueDialog({ way, onClose, ...rest }: ContinueDialogProps) {
  return way === undefined ? null : <Opened key={way.way} way={way} onClose={onClose} {...rest} />
}

function Opened({ wait, way, onClose, onEnded }: ContinueDialogProps & { readonly way: WaitWay }) {
  const [comment, setComment] = useState('')
  const [body, setBody] = useState('{}')
  const submit = async () => {
    await continueWait(wait._meta.guid, endOf(way, comment, body))
    await onEnded()
  }
  return (
    <FormDialog opened onClose={onClose} title={wait.title} action={way.label} submit={submit}>
      <Text size="sm">{waitsTexts.forever(way.text)}</Text>
      {way.takes === 'comment' ? (
        <Textarea
          label={waitsTexts.comment}
          description={waitsTexts.commentHelp}
          autosize
          minRows={2}
          maxLength={2_000}
          data-autofocus
          value={comment}
          onChange={(event) => setComment(event.currentTarget.value)}
        />
      ) : null}
      {way.takes === 'body' ? (
        <JsonField
          label={waitsTexts.body}
          description={waitsTexts.bodyHelp}
          value={body}
          onChange={setBody}
        />
      ) : null}
    </FormDialog>
  )
}

/** Throws SyntaxError for a body that is no JSON. */
function endOf({ way, takes }: WaitWay, comment: string, body: string): JsonObject {
  if (takes === 'comment') return { way, comment: comment.trim() }
  return takes === 'body' ? { way, body: JSON.parse(body) } : { way }
}
