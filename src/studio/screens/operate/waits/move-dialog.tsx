import { Checkbox, List, Loader, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { MovedWaits } from '../../../../shared/api/operate/waits.ts'
import { forgetWaits, moveWaits } from '../../../api/operate.ts'
import { FormDialog } from '../../../controls/form-dialog.tsx'
import { notifyAbout, notifyDone } from '../../../controls/notify.ts'
import { ErrorNotice } from '../../../controls/states.tsx'
import { waitsTexts } from '../../../texts/alerts.ts'

const MOST_REASONS = 20

interface MoveDialogProps {
  readonly blueprint: string
  /** One of them; all of the blueprint if undefined. */
  readonly wait?: string | undefined
  readonly opened: boolean
  readonly onClose: () => void
  readonly onMoved?: () => void
}

/** Says first which runs fit the deployed version, and moves them there. */
export function MoveDialog({ blueprint, wait, opened, onClose, onMoved }: MoveDialogProps) {
  const [again, setAgain] = useState(true)
  const requested = { blueprint, again, ...(wait !== undefined && { waits: [wait] }) }
  const { data, error } = useQuery({
    queryKey: ['waits', 'move', requested],
    queryFn: () => moveWaits({ ...requested, dry_run: true }),
    enabled: opened,
    staleTime: 0,
  })
  const submit = async () => {
    const { moved, continued, kept } = await moveWaits(requested)
    await forgetWaits()
    notifyDone(waitsTexts.movedRuns(moved, continued))
    if (kept.length > 0) notifyAbout(waitsTexts.recordedRuns(kept.length), kept[0]?.reason ?? '')
    onMoved?.()
  }
  return (
    <FormDialog
      opened={opened}
      onClose={onClose}
      title={waitsTexts.moveRuns}
      action={waitsTexts.move}
      submit={submit}
    >
      <Text size="sm">{waitsTexts.moveText}</Text>
      <Checkbox
        label={waitsTexts.againToo}
        checked={again}
        onChange={(event) => setAgain(event.currentTarget.checked)}
      />
      {error ? <ErrorNotice error={error} /> : data ? <Foreseen moved={data} /> : <Loader size="sm" />}
    </FormDialog>
  )
}

function Foreseen({ moved: { version, moved, continued, kept, next } }: { readonly moved: MovedWaits }) {
  return (
    <>
      <Text size="sm" fw={600}>
        {waitsTexts.willMove(version, moved, continued)}
      </Text>
      {kept.length > 0 ? (
        <>
          <Text size="sm">{waitsTexts.recordedRuns(kept.length)}</Text>
          <List size="sm" spacing={4}>
            {kept.slice(0, MOST_REASONS).map(({ wait, title, reason }) => (
              <List.Item key={wait} style={{ overflowWrap: 'anywhere' }}>
                <b>{title}</b>: {reason}
              </List.Item>
            ))}
          </List>
        </>
      ) : null}
      {next === null ? null : <Text size="sm">{waitsTexts.moreRuns}</Text>}
    </>
  )
}
