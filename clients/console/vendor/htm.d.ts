declare const htm: {
  bind: <Made>(
    make: (type: never, props: never, ...children: never[]) => Made,
  ) => (strings: TemplateStringsArray, ...values: unknown[]) => Made
}
export default htm
