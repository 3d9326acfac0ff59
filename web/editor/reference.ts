/** The anchors of patchStrategicMerge. */
export const anchors = [
  {
    form: '(key)',
    text: 'Condition: patch only where the value matches. Wildcards and operators are allowed.',
  },
  { form: '+(key)', text: 'Add the field only if it does not exist.' },
  { form: '<(key)', text: 'Global condition: skip the whole patch if no item of the list matches.' },
] as const;

/** Variables that every rule has. */
export const variables = [
  { name: 'request.object', text: 'The object of the request.' },
  { name: 'request.oldObject', text: 'The object before an update or deletion.' },
  { name: 'request.operation', text: 'CREATE, UPDATE, DELETE or CONNECT.' },
  { name: 'request.namespace', text: 'The namespace of the object.' },
  { name: 'request.name', text: 'The name of the object.' },
  { name: 'request.userInfo', text: 'The user: username, groups, uid.' },
  { name: 'request.roles', text: 'The Roles of the user.' },
  { name: 'request.clusterRoles', text: 'The ClusterRoles of the user.' },
  { name: 'serviceAccountName', text: 'The name of the ServiceAccount that sends the request.' },
  { name: 'serviceAccountNamespace', text: 'The namespace of that ServiceAccount.' },
  { name: 'images', text: 'The images of the containers, by container: registry, path, name, tag, digest.' },
] as const;
