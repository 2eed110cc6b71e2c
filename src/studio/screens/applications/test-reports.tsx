import { Badge, Button, FileButton, Group, Stack, Table, Text, Title } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { ErrorNotice } from '../../controls/states.tsx'
import { applicationsTexts } from '../../texts/applications.ts'
import classes from './release-plan.module.css'
import {
  type CaseScore,
  changeOf,
  comparedReports,
  MOST_OF_REPORT,
  percent,
  type ReportedTest,
  readReport,
} from './test-report.ts'

/** Of an evaluation; the report has them all. */
const MOST_CASES = 50

type Report = ReturnType<typeof readReport>

/** Scores of evaluations from a report of `quoin test`, beside those of another release. */
export function TestReports() {
  const [now, setNow] = useState<Report>()
  const [before, setBefore] = useState<Report>()
  const opening = useMutation({
    mutationFn: async ({ file, put }: { readonly file: File; readonly put: (report: Report) => void }) => {
      if (file.size > MOST_OF_REPORT) throw new Error(applicationsTexts.reportTooLarge)
      put(readReport(await file.text()))
    },
  })
  const open = (put: (report: Report) => void) => (file: File | null) => {
    if (file) opening.mutate({ file, put })
  }
  return (
    <section className={`surface ${classes.panel}`} aria-label={applicationsTexts.tests}>
      <Title order={2} size="h4" mb={4}>
        {applicationsTexts.tests}
      </Title>
      <Stack gap="sm">
        <Text size="sm" c="dimmed">
          {applicationsTexts.testsText}
        </Text>
        <Group gap="sm">
          <FileButton accept=".json,application/json" onChange={open(setNow)}>
            {(props) => (
              <Button {...props} variant="default" size="compact-sm">
                {applicationsTexts.openReport}
              </Button>
            )}
          </FileButton>
          {now === undefined ? null : (
            <FileButton accept=".json,application/json" onChange={open(setBefore)}>
              {(props) => (
                <Button {...props} variant="default" size="compact-sm">
                  {applicationsTexts.compareReport}
                </Button>
              )}
            </FileButton>
          )}
        </Group>
        <ErrorNotice error={opening.error} title={applicationsTexts.couldNotOpenReport} />
        {now === undefined
          ? null
          : comparedReports(now, before ?? []).map((test) => <Reported key={test.name} test={test} />)}
      </Stack>
    </section>
  )
}

const colours = { worse: 'red', better: 'petrol', same: 'gray' } as const

function Reported({ test }: { readonly test: ReportedTest }) {
  const { name, failures, score, before, cases } = test
  const passed = failures.length === 0
  const head = (
    <>
      {name}{' '}
      <Badge color={passed ? 'petrol' : 'red'}>
        {passed ? applicationsTexts.passed : applicationsTexts.failed}
      </Badge>{' '}
      {score === undefined ? null : <Badge color={colours[changeOf(test)]}>{change(score, before)}</Badge>}
    </>
  )
  // There is nothing to open.
  if (passed && cases.length === 0)
    return (
      <Text component="div" size="sm" className={classes.closed}>
        {head}
      </Text>
    )
  return (
    <Text component="details" size="sm">
      <summary>{head}</summary>
      <Stack gap={6} py={6}>
        {failures.map((failure) => (
          <Text key={failure} size="sm" style={{ overflowWrap: 'anywhere' }}>
            {failure}
          </Text>
        ))}
        {cases.length === 0 ? null : <Cases name={name} cases={cases} />}
      </Stack>
    </Text>
  )
}

function Cases({ name, cases }: { readonly name: string; readonly cases: readonly CaseScore[] }) {
  return (
    <>
      <Table aria-label={applicationsTexts.casesOf(name)}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{applicationsTexts.case}</Table.Th>
            <Table.Th>{applicationsTexts.score}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {cases.slice(0, MOST_CASES).map((one) => (
            <Table.Tr key={one.name}>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>
                {one.name}
                {one.problem === '' ? null : (
                  <Text size="xs" c="dimmed">
                    {one.problem}
                  </Text>
                )}
              </Table.Td>
              <Table.Td>
                <Badge color={colours[changeOf(one)]}>{change(one.score, one.before)}</Badge>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {cases.length <= MOST_CASES ? null : (
        <Text size="xs">{applicationsTexts.moreCases(cases.length - MOST_CASES)}</Text>
      )}
    </>
  )
}

function change(score: number, before: number | undefined): string {
  return before === undefined || before === score
    ? percent(score)
    : applicationsTexts.scoreChange(percent(before), percent(score))
}
