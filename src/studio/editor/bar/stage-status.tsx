import { Button, Group, Tooltip } from '@mantine/core'
import { useMemo } from 'react'
import { barTexts } from '../../texts/bar.ts'
import { stagedBy } from '../model/changes/staged-blocks.ts'
import { useEditor, useEditorState } from '../state/editor-context.ts'
import classes from './editor-bar.module.css'
import { useStageActions } from './use-stage-actions.ts'

/** How many changes are staged and by whom, whether they have reached the server, and the two things to do with them. */
export function StageStatus() {
  const editor = useEditor()
  const known = useEditorState((state) => state.known)
  const storing = useEditorState((state) => state.storing)
  const by = useMemo(() => stagedBy(known), [known])
  const { save, isSaving } = useStageActions()
  const blocks = by.reduce((sum, one) => sum + one.blocks, 0)
  const who = by.map((one) => barTexts.blocksBy(one.blocks, one.username)).join(', ')
  if (storing.state === 'failed')
    return (
      <span className={classes.status} data-failed role="alert">
        {barTexts.retrying}
      </span>
    )
  if (blocks === 0)
    return (
      <span className={classes.status}>
        {storing.state === 'storing' ? barTexts.storing : barTexts.allSaved}
      </span>
    )
  return (
    <Group gap={6} wrap="nowrap" style={{ flexShrink: 0 }}>
      <Tooltip label={barTexts.stagedHelp(who)}>
        <span className={classes.status}>
          {barTexts.staged(blocks, storing.state === 'storing' ? ' …' : '')}
          {by.length < 2
            ? null
            : by.map((one) => (
                <span key={one.username} className={classes.who}>
                  {one.username.slice(0, 2).toUpperCase()}
                </span>
              ))}
        </span>
      </Tooltip>
      <Button
        size="xs"
        variant="subtle"
        color="gray"
        px={8}
        onClick={() => editor.set({ dialog: { kind: 'discard' } })}
      >
        {barTexts.discard}
      </Button>
      <Button size="xs" variant="default" loading={isSaving} onClick={save}>
        {barTexts.save}
      </Button>
    </Group>
  )
}
