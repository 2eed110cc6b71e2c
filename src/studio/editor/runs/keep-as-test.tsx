import { Button } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Run } from '../../../shared/api/blueprints/runs.ts'
import { groupsQuery } from '../../api/people.ts'
import { notifyAbout, notifyDone, notifyFailed } from '../../controls/notify.ts'
import { fileName, saveFile } from '../../controls/save-file.ts'
import { runsTexts } from '../../texts/runs.ts'

/** Saves a file with the test of flows that the run makes; says what to look at in it. */
export function KeepAsTest({ run }: { readonly run: Run }) {
  const client = useQueryClient()
  const [isMaking, setMaking] = useState(false)
  const keep = async () => {
    setMaking(true)
    try {
      const { scenarioOfRun } = await import('../../../shared/scenarios/scenario-of-run.ts')
      // Who may not see groups gets the test without those of the user, which it says.
      const groups = run.user === null ? [] : await client.fetchQuery(groupsQuery).catch(() => [])
      const names = groups.map(({ _meta, name }): [string, string] => [_meta.guid, name])
      const { scenario, notes } = scenarioOfRun(run, new Map(names))
      const text = `${JSON.stringify(scenario, undefined, 2)}\n`
      saveFile(fileName(run.label, 'test.json'), new Blob([text], { type: 'application/json' }))
      if (notes.length > 0) notifyAbout(runsTexts.lookAtTest, notes.join(' '))
      else notifyDone(runsTexts.keptAsTest)
    } catch (error) {
      notifyFailed(runsTexts.couldNotKeepAsTest, error)
    } finally {
      setMaking(false)
    }
  }
  return (
    <Button size="xs" variant="default" loading={isMaking} title={runsTexts.keepAsTestText} onClick={keep}>
      {runsTexts.keepAsTest}
    </Button>
  )
}
