import { Button, Group, Tooltip } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useMemo } from 'react'
import { Link } from 'wouter'
import { draftsOf } from '../../api/applications.ts'
import { pendingQuery } from '../../api/blueprints.ts'
import { barTexts } from '../../texts/bar.ts'
import { countsTexts } from '../../texts/editor.ts'
import { diffFlows } from '../model/changes/flow-diff.ts'
import { stagedBy } from '../model/changes/staged-blocks.ts'
import type { Flow } from '../model/flow.ts'
import { useEditor, useEditorState } from '../state/editor-context.ts'
import classes from './editor-bar.module.css'
import { useStageActions } from './use-stage-actions.ts'

/** How many changes are staged and by whom, whether they have reached the server, and the two things to do with them. */
export function StageStatus({ isPhone }: { readonly isPhone: boolean }) {
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
      <Group gap={6} wrap="nowrap" style={{ flexShrink: 0 }}>
        <span className={classes.status}>
          {storing.state === 'storing' ? barTexts.storing : barTexts.allSaved}
        </span>
        {isPhone ? null : <Drafts />}
        <NotDeployed />
      </Group>
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
      {isPhone ? null : (
        <Button
          size="xs"
          variant="subtle"
          color="gray"
          px={8}
          onClick={() => editor.set({ dialog: { kind: 'discard' } })}
        >
          {barTexts.discard}
        </Button>
      )}
      <Button size="xs" variant="default" loading={isSaving} onClick={save}>
        {barTexts.save}
      </Button>
    </Group>
  )
}

/** Of the application: agents and people change files of it, and what they change is not on the canvas. */
function Drafts() {
  const guid = useEditorState((state) => state.guid)
  const { data = [] } = useQuery({ ...draftsOf(guid), enabled: guid !== '' })
  const [first] = data
  if (first === undefined) return null
  const authors = data.map(({ agent, author }) =>
    agent === '' ? author.username : `${agent} (${author.username})`,
  )
  return (
    <Tooltip label={barTexts.draftsHelp(authors.join(', '))}>
      <Button
        component={Link}
        href={
          data.length === 1 ? `/blueprints/applications/drafts/${first.guid}` : '/blueprints/applications'
        }
        size="xs"
        variant="subtle"
        color="gray"
        px={8}
      >
        {barTexts.drafts(data.length)}
      </Button>
    </Tooltip>
  )
}

/** Saved blocks that are not what is live: after a save, and after a roll back. */
function NotDeployed() {
  const editor = useEditor()
  const guid = useEditorState((state) => state.guid)
  const version = useEditorState(({ blueprint }) => blueprint?.version ?? 0)
  const known = useEditorState((state) => state.known)
  const { data, refetch } = useQuery({ ...pendingQuery(guid), enabled: false })
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is saved or live has changed
  useEffect(() => {
    if (version > 0) void refetch()
  }, [version, known])
  const catalogue = useEditorState((state) => state.catalogue)
  const count = useMemo(() => {
    const side = (of: 'before' | 'after'): Flow =>
      new Map((data ?? []).flatMap(({ guid: block, [of]: content }) => (content ? [[block, content]] : [])))
    return version > 0 ? diffFlows(side('before'), side('after'), catalogue).length : 0
  }, [data, version, catalogue])
  if (count === 0) return null
  return (
    <Tooltip label={barTexts.differsFromLiveHelp(version)}>
      <Button
        size="xs"
        variant="subtle"
        color="gray"
        px={8}
        onClick={() => editor.set({ dialog: { kind: 'differs' } })}
      >
        {barTexts.differsFromLive(countsTexts.blocks(count))}
      </Button>
    </Tooltip>
  )
}
