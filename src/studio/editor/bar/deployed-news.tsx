import { Group, Text } from '@mantine/core'
import { OpenPage } from '../../controls/pages/open-page.tsx'
import { barTexts } from '../../texts/bar.ts'
import type { FlowPage } from '../model/flow-pages.ts'

/** More do not fit beside a message; the bar lists all. */
const SHOWN = 3

interface DeployedNewsProps {
  readonly version: number
  readonly pages: readonly FlowPage[]
}

/** What is said after a deploy, with links to the pages that are live now. */
export function DeployedNews({ version, pages }: DeployedNewsProps) {
  return (
    <>
      <Text size="sm">{barTexts.deployed(version)}</Text>
      {pages.length === 0 ? null : (
        <Group gap={12} mt={4}>
          {pages.slice(0, SHOWN).map(({ block, path }) => (
            <OpenPage key={block} path={path} label={barTexts.open(path)} />
          ))}
        </Group>
      )}
    </>
  )
}
