import { Badge, Group } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Blueprint } from '../../../shared/api/blueprints/blueprints.ts'
import { pendingQuery, stagedQuery } from '../../api/blueprints.ts'
import { blueprintsTexts } from '../../texts/blueprints.ts'

/** What answers requests, and what was built since: saved and not deployed, or only staged, and by whom. */
export function BlueprintState({ blueprint }: { readonly blueprint: Blueprint }) {
  const { _meta, active, version } = blueprint
  const { data: staged } = useQuery(stagedQuery)
  const { data: pending } = useQuery({ ...pendingQuery(_meta.guid), enabled: version > 0 })
  const edits = staged?.get(_meta.guid) ?? []
  const people = new Set(edits.map((block) => block.unsaved?.by.username ?? ''))
  const waiting = pending?.length ?? 0
  return (
    <Group gap={4}>
      {active ? (
        <Badge color="green" title={blueprintsTexts.itsEndpointsAreLive}>
          {blueprintsTexts.activeVersion(version)}
        </Badge>
      ) : (
        <Badge color="gray" title={blueprintsTexts.itsEndpointsReply404}>
          {blueprintsTexts.neverDeployed(version)}
        </Badge>
      )}
      {waiting > 0 ? (
        <Badge color="sand" title={blueprintsTexts.notDeployedHelp}>
          {blueprintsTexts.notDeployed(waiting)}
        </Badge>
      ) : null}
      {edits.length > 0 ? (
        <Badge color="violet" title={blueprintsTexts.stagedHelp([...people].join(', '))}>
          {blueprintsTexts.staged(edits.length)}
        </Badge>
      ) : null}
    </Group>
  )
}
