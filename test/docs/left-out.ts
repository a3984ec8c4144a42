import type { Snippet } from './snippets.js'

/** The snippets that no test runs, by the words they begin with, or all of a page, and why. Every other one is run. */
export const leftOut: { page: string; begins?: string; why: string }[] = [
  {
    page: 'README.md',
    begins: 'npm start ',
    why: 'this is how the journey that runs the others starts, and its system',
  },
  { page: 'CONTRIBUTING.md', begins: 'npm run check ', why: 'these run the tests, and take hours' },
  { page: 'CONTRIBUTING.md', begins: 'npm run release -- prepare', why: 'it makes a release' },
  { page: 'CONTRIBUTING.md', begins: 'npm run release  ', why: 'it makes a release' },
  { page: 'docs/faults.md', begins: 'npm run faults ', why: 'these take hours' },
  { page: 'docs/performance.md', begins: 'npm run bench ', why: 'these take up to half an hour' },
  {
    page: 'docs/capacity.md',
    begins: 'npm run bench ',
    why: 'it needs the folder test/, which the journey leaves out',
  },
  {
    page: 'docs/stream-processors.md',
    why: 'test/docs/stream-processors.deep.test.ts runs it: its programs are large, and are read while they run',
  },
  {
    page: 'docs/kubernetes.md',
    why: 'it needs a cluster',
  },
]

export const isLeftOut = ({ page, text }: Snippet): boolean =>
  leftOut.some(({ page: of, begins = '' }) => of === page && text.startsWith(begins))
