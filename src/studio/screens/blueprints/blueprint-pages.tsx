import { Badge, Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Blueprint } from '../../../shared/api/blueprints/blueprints.ts'
import { pendingQuery } from '../../api/blueprints.ts'
import { deployedPages, type PlacedPage } from '../../api/deployed-pages.ts'
import { MethodTag } from '../../controls/method-tag.tsx'
import { OpenPage } from '../../controls/pages/open-page.tsx'
import { blueprintsTexts } from '../../texts/blueprints.ts'
import classes from './blueprint-endpoints.module.css'

const SHOWN = 6

interface BlueprintPagesProps {
  readonly blueprint: Blueprint
  readonly saved: readonly PlacedPage[]
}

/**
 * The pages of a blueprint; those of an active one can be opened. Which of them are public is said. Of a blueprint that was
 * deployed they are those that visitors reach, with the addresses that they have there.
 */
export function BlueprintPages({ blueprint, saved }: BlueprintPagesProps) {
  const { _meta, version } = blueprint
  const { data: pending, isError } = useQuery({ ...pendingQuery(_meta.guid), enabled: version > 0 })
  const isKnown = version === 0 || pending !== undefined
  const pages = version > 0 && pending ? deployedPages(saved, pending) : saved
  if (pages.length === 0 || !(isKnown || isError)) return null
  const sorted = pages.toSorted((a, b) => (a.path ?? '').localeCompare(b.path ?? ''))
  return (
    <ul className={classes.list} aria-label={blueprintsTexts.pagesOf(blueprint.name)}>
      {sorted.slice(0, SHOWN).map(({ block, path, isPublic }) => (
        <li key={block}>
          <Group gap={8} wrap="nowrap">
            <MethodTag method="PAGE" />
            <Text size="sm" ff="monospace" truncate>
              {path ?? blueprintsTexts.fromAWire}
            </Text>
            {isPublic ? (
              <Badge
                size="xs"
                color="sand"
                style={{ flexShrink: 0 }}
                title={blueprintsTexts.everyoneCanOpenIt}
              >
                {blueprintsTexts.noSignIn}
              </Badge>
            ) : null}
            {blueprint.active && isKnown && path !== undefined ? <OpenPage path={path} /> : null}
          </Group>
        </li>
      ))}
      {pages.length > SHOWN ? (
        <Text component="li" size="xs" c="dimmed">
          {blueprintsTexts.andMorePages(pages.length - SHOWN)}
        </Text>
      ) : null}
    </ul>
  )
}
